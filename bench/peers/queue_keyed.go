package peers

import (
	"database/sql"
	"encoding/binary"
	"os"

	"github.com/cockroachdb/pebble/v2"
	"go.etcd.io/bbolt"
	_ "modernc.org/sqlite" // the driver
)

func (l *boltLog) add(values ...[]byte) error { return l.Appender(values)() }

func (l *boltLog) from(first uint64, each func(uint64, []byte) bool) error {
	return l.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket(bucket).Cursor()
		for k, v := c.Seek(key(first)); k != nil && each(binary.BigEndian.Uint64(k), v); k, v = c.Next() {
		}
		return nil
	})
}

func (l *boltLog) remove(n uint64) error {
	return l.Update(func(tx *bbolt.Tx) error { return tx.Bucket(bucket).Delete(key(n)) })
}

func (l *pebbleLog) add(values ...[]byte) error { return l.Appender(values)() }

func (l *pebbleLog) from(first uint64, each func(uint64, []byte) bool) error {
	it, err := l.NewIter(&pebble.IterOptions{LowerBound: key(first)})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && each(binary.BigEndian.Uint64(it.Key()), it.Value()); ok = it.Next() {
	}
	return it.Close()
}

func (l *pebbleLog) remove(n uint64) error { return l.Delete(key(n), l.write) }

// sqliteLog is a table in a SQLite database, with a write-ahead log. Writes are
// one at a time, on one connection: it takes no others.
type sqliteLog struct {
	db                   *sql.DB
	insert, sel, deletes *sql.Stmt
}

func openSQLite(dir string, durable bool) (l *sqliteLog, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	// With NORMAL a commit is written and not synced: it survives a kill.
	sync := "NORMAL"
	if durable {
		sync = "FULL"
	}
	db, err := sql.Open("sqlite", "file:"+inside(dir)+"?_pragma=journal_mode(WAL)&_pragma=synchronous("+sync+")&_pragma=cache_size(-65536)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	l = &sqliteLog{db: db}
	if _, err = db.Exec("CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY AUTOINCREMENT, value BLOB NOT NULL)"); err != nil {
		return nil, err
	}
	for statement, query := range map[**sql.Stmt]string{
		&l.insert:  "INSERT INTO messages (value) VALUES (?)",
		&l.sel:     "SELECT id, value FROM messages WHERE id >= ? ORDER BY id",
		&l.deletes: "DELETE FROM messages WHERE id = ?",
	} {
		if *statement, err = db.Prepare(query); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *sqliteLog) add(values ...[]byte) error {
	if len(values) == 1 {
		_, err := l.insert.Exec(values[0])
		return err
	}
	tx, err := l.db.Begin()
	if err != nil {
		return err
	}
	insert := tx.Stmt(l.insert)
	for _, value := range values {
		if _, err := insert.Exec(value); err != nil {
			_ = tx.Rollback()
			return err
		}
	}
	return tx.Commit()
}

func (l *sqliteLog) from(first uint64, each func(uint64, []byte) bool) error {
	rows, err := l.sel.Query(first)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id uint64
		var value sql.RawBytes
		if err := rows.Scan(&id, &value); err != nil {
			return err
		}
		if !each(id, value) {
			break
		}
	}
	return rows.Err()
}

func (l *sqliteLog) remove(n uint64) error {
	_, err := l.deletes.Exec(n)
	return err
}

func (l *sqliteLog) Close() error { return l.db.Close() }
