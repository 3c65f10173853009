"""The cases of launch.py that are runs of a command with an expected end: a table."""
from launch_case import TWO_NODES, Row

ROWS = (
)
