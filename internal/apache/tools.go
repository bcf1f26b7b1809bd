package apache

// The classes of Kafka's tools, by the names of its scripts.
const (
	APIVersions        = tool + "BrokerApiVersionsCommand"
	Configs            = tool + "ConfigCommand"
	ConsoleConsumer    = tool + "consumer.ConsoleConsumer"
	ConsoleProducer    = tool + "ConsoleProducer"
	ConsumerGroups     = tool + "consumer.group.ConsumerGroupCommand"
	ConsumerPerf       = tool + "ConsumerPerformance"
	DeleteRecords      = tool + "DeleteRecordsCommand"
	DumpLog            = tool + "DumpLogSegments"
	GetOffsets         = tool + "GetOffsetShell"
	LogDirs            = tool + "LogDirsCommand"
	ProducerPerf       = tool + "ProducerPerformance"
	Topics             = tool + "TopicCommand"
	VerifiableConsumer = tool + "VerifiableConsumer"
	VerifiableProducer = tool + "VerifiableProducer"

	tool = "org.apache.kafka.tools."
)
