//! Lines that say the same but for numbers, told by one of them and a count.
