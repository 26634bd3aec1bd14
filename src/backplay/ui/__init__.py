"""What people see and press: displays, keys, interrupts."""
