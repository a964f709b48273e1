"""What a computer holds in real time: when it wakes up, what it lets a process do."""
