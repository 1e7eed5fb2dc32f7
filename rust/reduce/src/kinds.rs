//! Reducers of whole kinds of tools: the first and last lines, files, boards.

pub(crate) mod head_tail;
pub(crate) mod kanban;
pub(crate) mod read_file;
