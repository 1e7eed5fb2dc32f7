"""Ready tools: files, programs, tickets, memory, the web, attachments, cut results."""
