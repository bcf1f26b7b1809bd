package vfs

// holdRecordLock takes the lock as a Java program does.
func holdRecordLock(name string) error {
	_, err := LockRecords(OS, name)
	return err
}
