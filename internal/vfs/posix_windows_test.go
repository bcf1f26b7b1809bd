package vfs

// posixFiles says that the host lets files be removed and replaced in use, and
// mapped past their end.
const posixFiles = false
