package metrics

import "github.com/prometheus/client_golang/prometheus"

// metric is one of a name.
type metric struct {
	name, unit, help string
	kind             kind
	labels           []string
}

type kind string

const (
	counter   kind = "counter"
	gauge     kind = "gauge"
	histogram kind = "histogram"
)

// text is the HELP, which ends with the unit.
func (m *metric) text() string { return m.help + " (" + m.unit + ")" }

func (m *metric) desc() *prometheus.Desc {
	return prometheus.NewDesc(m.name, m.text(), m.labels, nil)
}

func (m *metric) opts() prometheus.Opts { return prometheus.Opts{Name: m.name, Help: m.text()} }

func (m *metric) histogramOpts() prometheus.HistogramOpts {
	return prometheus.HistogramOpts{Name: m.name, Help: m.text(), Buckets: buckets}
}

// buckets are the bounds of all times, in milliseconds.
var buckets = []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000}

// What went through topics.
var (
	messagesIn     = &metric{"kafka_server_brokertopicmetrics_messagesin_total", "records", "Records appended, duplicates of idempotent producers left out", counter, []string{"topic"}}
	bytesIn        = &metric{"kafka_server_brokertopicmetrics_bytesin_total", "bytes", "Batches appended, as their producers sent them", counter, []string{"topic"}}
	bytesOut       = &metric{"kafka_server_brokertopicmetrics_bytesout_total", "bytes", "Batches that fetches were answered with", counter, []string{"topic"}}
	bytesRejected  = &metric{"kafka_server_brokertopicmetrics_bytesrejected_total", "bytes", "Batches refused since they are too large", counter, []string{"topic"}}
	produces       = &metric{"kafka_server_brokertopicmetrics_totalproducerequests_total", "partitions of requests", "Produce requests, each partition in one counted", counter, []string{"topic"}}
	failedProduces = &metric{"kafka_server_brokertopicmetrics_failedproducerequests_total", "partitions of requests", "Produce requests that failed as they do not in a broker that is well and is used well", counter, []string{"topic"}}
	fetches        = &metric{"kafka_server_brokertopicmetrics_totalfetchrequests_total", "partitions of requests", "Fetch requests, each partition in one counted", counter, []string{"topic"}}
	failedFetches  = &metric{"kafka_server_brokertopicmetrics_failedfetchrequests_total", "partitions of requests", "Fetch requests that failed as they do not in a broker that is well and is used well", counter, []string{"topic"}}
)

// Requests and connections.
var (
	requests     = &metric{"kafka_network_requestmetrics_requests_total", "requests", "Requests served, by name and version", counter, []string{"request", "version"}}
	requestErrs  = &metric{"kafka_network_requestmetrics_errors_total", "error codes", "Error codes in answers, NONE among them: one for each topic, partition, group or the whole of an answer", counter, []string{"request", "error"}}
	totalTime    = &metric{"kafka_network_requestmetrics_totaltimems", "ms", "Time from when a request was received to when its answer was complete", histogram, []string{"request"}}
	localTime    = &metric{"kafka_network_requestmetrics_localtimems", "ms", "Of that, time of the broker's own work", histogram, []string{"request"}}
	remoteTime   = &metric{"kafka_network_requestmetrics_remotetimems", "ms", "Of that, time of waiting: of a fetch for records, of a join or sync for other members", histogram, []string{"request"}}
	sendTime     = &metric{"kafka_network_requestmetrics_responsesendtimems", "ms", "Time of writing the answer to the connection", histogram, []string{"request"}}
	bytesRead    = &metric{"kafka_server_socket_server_metrics_incoming_byte_total", "bytes", "Requests received", counter, nil}
	bytesWritten = &metric{"kafka_server_socket_server_metrics_outgoing_byte_total", "bytes", "Answers made", counter, nil}
	connections  = &metric{"kafka_server_socket_server_metrics_connection_count", "connections", "Connections that are open", gauge, nil}
	connected    = &metric{"kafka_server_socket_server_metrics_connection_creation_total", "connections", "Connections made", counter, nil}
)

// The broker and its partitions.
var (
	brokerState = &metric{"kafka_server_kafkaserver_brokerstate", "state", "1 opening, 3 serving, 6 closing", gauge, nil}
	partitions  = &metric{"kafka_server_replicamanager_partitioncount", "partitions", "Partitions of this broker", gauge, nil}
	leaders     = &metric{"kafka_server_replicamanager_leadercount", "partitions", "Partitions that it leads: all whose log is open", gauge, nil}
	offline     = &metric{"kafka_server_replicamanager_offlinereplicacount", "partitions", "Partitions whose log could not be opened or has failed", gauge, nil}
	offlineDirs = &metric{"kafka_log_logmanager_offlinelogdirectorycount", "directories", "1 if the directory is gone or a log in it has failed, so that /healthz says 503", gauge, nil}
	logSize     = &metric{"kafka_log_log_size", "bytes", "Records in the log, without indexes", gauge, []string{"topic", "partition"}}
	logStart    = &metric{"kafka_log_log_logstartoffset", "offset", "The first offset that can be read", gauge, []string{"topic", "partition"}}
	logEnd      = &metric{"kafka_log_log_logendoffset", "offset", "The offset that the next record gets", gauge, []string{"topic", "partition"}}
	logSegments = &metric{"kafka_log_log_numlogsegments", "segments", "Segments of the log", gauge, []string{"topic", "partition"}}
)

// The work on logs.
var (
	flushTime   = &metric{"kafka_log_logflushstats_logflushrateandtimems", "ms", "Time of a sync of a log", histogram, nil}
	flushErrs   = &metric{"seglog_log_sync_failures_total", "syncs", "Syncs that failed; the log takes nothing more then until the broker is opened again, unless the disk was full", counter, nil}
	rolled      = &metric{"seglog_log_segments_rolled_total", "segments", "Segments begun", counter, nil}
	dropped     = &metric{"seglog_log_segments_dropped_total", "segments", "Segments removed, by retention or since they were asked to be", counter, nil}
	compactions = &metric{"seglog_log_compactions_total", "compactions", "Compactions that did something or failed", counter, []string{"result"}}
	mapped      = &metric{"seglog_log_mapped_segments", "mappings", "Sealed segments that are mapped; each newest segment is mapped beside them, three files of it, and holds two to four descriptors", gauge, nil}
	pins        = &metric{"seglog_log_pins", "reads", "Reads in progress, of which each keeps a segment mapped", gauge, nil}
)

// Consumer groups.
var (
	groupCount      = &metric{"kafka_coordinator_group_groupmetadatamanager_numgroups", "groups", "Consumer groups", gauge, nil}
	groupEmpty      = &metric{"kafka_coordinator_group_groupmetadatamanager_numgroupsempty", "groups", "Those without members", gauge, nil}
	groupPreparing  = &metric{"kafka_coordinator_group_groupmetadatamanager_numgroupspreparingrebalance", "groups", "Those that wait for members to join", gauge, nil}
	groupCompleting = &metric{"kafka_coordinator_group_groupmetadatamanager_numgroupscompletingrebalance", "groups", "Those that wait for their leader's assignment", gauge, nil}
	groupStable     = &metric{"kafka_coordinator_group_groupmetadatamanager_numgroupsstable", "groups", "Those whose members have their assignments", gauge, nil}
	groupOffsets    = &metric{"kafka_coordinator_group_groupmetadatamanager_numoffsets", "offsets", "Committed offsets of all groups", gauge, nil}
	groupLag        = &metric{"kafka_consumergroup_lag", "records", "Offsets between what a group has committed and the high watermark", gauge, []string{"consumergroup", "topic", "partition"}}
	groupLagLeft    = &metric{"seglog_consumergroup_lags_left_out", "partitions", "Committed offsets whose lag is not told since there are too many", gauge, nil}
)

// The program.
var logged = &metric{"seglog_logged_total", "lines", "Lines logged, by level", counter, []string{"level"}}

// catalogue are all of them, in the order in which people are told of them.
var catalogue = []*metric{
	messagesIn, bytesIn, bytesOut, bytesRejected, produces, failedProduces, fetches, failedFetches,
	requests, requestErrs, totalTime, localTime, remoteTime, sendTime, bytesRead, bytesWritten, connections, connected,
	brokerState, partitions, leaders, offline, offlineDirs, logSize, logStart, logEnd, logSegments,
	flushTime, flushErrs, rolled, dropped, compactions, mapped, pins,
	groupCount, groupEmpty, groupPreparing, groupCompleting, groupStable, groupOffsets, groupLag, groupLagLeft,
	logged,
}
