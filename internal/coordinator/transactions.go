package coordinator

// Transactions decodes a record of __transaction_state.
func Transactions(key, value []byte) (keyJSON, valueJSON []byte, err error) {
	return decode(key, value, func(kind int16) (func(*reader) any, func(*reader, int16) any) {
		if kind != 0 {
			return nil, nil
		}
		return txnKey, txnValue
	})
}

func txnKey(r *reader) any {
	return struct {
		TransactionalID string `json:"transactionalId"`
	}{r.must()}
}

type txn struct {
	ProducerID               int64           `json:"producerId"`
	PreviousProducerID       *int64          `json:"previousProducerId,omitempty"` // tag 0
	NextProducerID           *int64          `json:"nextProducerId,omitempty"`     // tag 1
	ProducerEpoch            int16           `json:"producerEpoch"`
	NextProducerEpoch        *int16          `json:"nextProducerEpoch,omitempty"` // tag 3
	TimeoutMs                int32           `json:"transactionTimeoutMs"`
	Status                   any             `json:"transactionStatus"`
	Partitions               []txnPartitions `json:"transactionPartitions"`
	LastUpdateTimestampMs    int64           `json:"transactionLastUpdateTimestampMs"`
	StartTimestampMs         int64           `json:"transactionStartTimestampMs"`
	ClientTransactionVersion *int16          `json:"clientTransactionVersion,omitempty"` // tag 2
}

var statuses = [...]string{"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence"}

// status is a transaction's state by name, its number if it has none.
func status(n int8) any {
	if n < 0 || int(n) >= len(statuses) {
		return n
	}
	return statuses[n]
}

type txnPartitions struct {
	Topic        string  `json:"topic"`
	PartitionIDs []int32 `json:"partitionIds"`
}

func txnValue(r *reader, version int16) any {
	const flexible, latest = 1, 1
	if version < 0 || version > latest {
		return nil
	}
	r.flexible = version >= flexible
	t := txn{ProducerID: r.int64(), ProducerEpoch: r.int16(), TimeoutMs: r.int32(), Status: status(r.int8())}
	t.Partitions = array(r, func(r *reader) txnPartitions {
		p := txnPartitions{r.must(), array(r, (*reader).int32)}
		r.tags(nil)
		return p
	})
	t.LastUpdateTimestampMs, t.StartTimestampMs = r.int64(), r.int64()
	r.tags(map[int]func(*reader){
		0: func(r *reader) { t.PreviousProducerID = new(r.int64()) },
		1: func(r *reader) { t.NextProducerID = new(r.int64()) },
		2: func(r *reader) { t.ClientTransactionVersion = new(r.int16()) },
		3: func(r *reader) { t.NextProducerEpoch = new(r.int16()) },
	})
	return t
}
