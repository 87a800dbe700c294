"""The leaderboard: scorecards in, a static site out. It shows numbers and computes none."""
