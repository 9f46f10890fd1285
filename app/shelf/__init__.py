"""Find, check and suggest the files of folders in which every file is one variant."""
