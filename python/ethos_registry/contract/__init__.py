"""What a tool is: plain values that every other room builds on."""
