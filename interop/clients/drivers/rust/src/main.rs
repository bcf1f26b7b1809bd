//! The contract of ../../../doc.go for rdkafka.

use rdkafka::admin::{AdminClient, AdminOptions, AlterConfig, NewTopic, ResourceSpecifier, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::producer::{FutureProducer, FutureRecord};
use rdkafka::types::RDKafkaErrorCode;
use rdkafka::util::Timeout;
use rdkafka::{Message, Offset, TopicPartitionList};
use std::error::Error;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

type Failed = Box<dyn Error>;

fn say(line: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|_| out.flush()).expect("standard output");
}

fn config(addr: &str) -> ClientConfig {
    let mut c = ClientConfig::new();
    c.set("bootstrap.servers", addr).set("reconnect.backoff.max.ms", "100").set("log_level", "0");
    c
}

async fn produce(addr: &str, topic: &str, acks: &str, codec: &str, from: usize, to: usize) -> Result<(), Failed> {
    let idempotent = acks == "idempotent";
    let producer: FutureProducer = config(addr)
        .set("acks", if idempotent { "all" } else { acks })
        .set("enable.idempotence", idempotent.to_string())
        .set("compression.type", codec)
        .set("linger.ms", "5")
        .set("message.timeout.ms", "3600000")
        .set("retry.backoff.ms", "20")
        .create()?;
    for first in (from..to).step_by(100) {
        let numbers: Vec<_> = (first..to.min(first + 100)).collect();
        let records: Vec<_> = numbers.iter().map(|n| (n.to_string(), format!("{n:0100}"))).collect();
        let sent = records.iter().map(|(key, value)| producer.send(FutureRecord::to(topic).key(key).payload(value), Timeout::Never));
        for (n, result) in numbers.iter().zip(futures::future::join_all(sent).await) {
            result.map_err(|(e, _)| e)?;
            say(n);
        }
    }
    Ok(())
}

fn poll(consumer: &BaseConsumer, ended: &AtomicBool) -> Result<(), Failed> {
    while !ended.load(Ordering::Relaxed) {
        match consumer.poll(Duration::from_millis(50)) {
            Some(Ok(m)) => say(format!("{} {} {}", m.partition(), m.offset(), std::str::from_utf8(m.payload().unwrap_or_default())?)),
            Some(Err(KafkaError::MessageConsumption(RDKafkaErrorCode::Fatal))) => return Err("fatal".into()),
            _ => {}
        }
    }
    Ok(())
}

fn consume(addr: &str, topic: &str, partitions: i32, since: i64) -> Result<(), Failed> {
    let consumer: BaseConsumer = config(addr).set("group.id", "none").set("enable.auto.commit", "false").create()?;
    let mut wanted = TopicPartitionList::new();
    for p in 0..partitions {
        let from = if since == -2 { Offset::Beginning } else { Offset::Offset(since) };
        wanted.add_partition_offset(topic, p, from)?;
    }
    if since != -2 {
        wanted = consumer.offsets_for_times(wanted, Duration::from_secs(30))?;
    }
    consumer.assign(&wanted)?;
    poll(&consumer, &AtomicBool::new(false))
}

fn member(addr: &str, topic: &str, group: &str) -> Result<(), Failed> {
    let ended = Arc::new(AtomicBool::new(false));
    let told = ended.clone();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        told.store(true, Ordering::Relaxed);
    });
    let consumer: BaseConsumer =
        config(addr).set("group.id", group).set("auto.offset.reset", "earliest").set("heartbeat.interval.ms", "200").create()?;
    consumer.subscribe(&[topic])?;
    poll(&consumer, &ended)
}

fn admin(addr: &str) -> Result<AdminClient<DefaultClientContext>, Failed> {
    Ok(config(addr).create()?)
}

fn options() -> AdminOptions {
    AdminOptions::new().operation_timeout(Some(Duration::from_secs(30)))
}

fn pair(s: &str) -> (&str, &str) {
    s.split_once('=').expect("KEY=VALUE")
}

fn each<T: std::fmt::Debug, E: std::fmt::Debug>(results: Vec<Result<T, E>>) -> Result<Vec<T>, Failed> {
    results.into_iter().map(|r| r.map_err(|e| format!("{e:?}").into())).collect()
}

async fn run(args: &[&str]) -> Result<(), Failed> {
    match args {
        [addr, "produce", topic, acks, codec, from, to] => produce(addr, topic, acks, codec, from.parse()?, to.parse()?).await,
        [addr, "consume", topic, partitions, since] => consume(addr, topic, partitions.parse()?, since.parse()?),
        [addr, "member", topic, group] => member(addr, topic, group),
        [addr, "create", topic, partitions, setting] => {
            let (key, value) = pair(setting);
            let new = NewTopic::new(topic, partitions.parse()?, TopicReplication::Fixed(1)).set(key, value);
            each(admin(addr)?.create_topics([&new], &options()).await?).map(drop)
        }
        [addr, "describe", topic] => {
            let consumer: BaseConsumer = config(addr).create()?;
            say(consumer.fetch_metadata(Some(topic), Duration::from_secs(30))?.topics()[0].partitions().len());
            Ok(())
        }
        [addr, "configs", topic] => {
            for resource in each(admin(addr)?.describe_configs([&ResourceSpecifier::Topic(topic)], &options()).await?)? {
                resource.entries.iter().for_each(|e| say(format!("{}={}", e.name, e.value.as_deref().unwrap_or_default())));
            }
            Ok(())
        }
        [addr, "alter", topic, setting] => {
            let (key, value) = pair(setting);
            each(admin(addr)?.alter_configs([&AlterConfig::new(ResourceSpecifier::Topic(topic)).set(key, value)], &options()).await?).map(drop)
        }
        [addr, "delete", topic] => each(admin(addr)?.delete_topics(&[topic], &options()).await?).map(drop),
        _ => Err(format!("unknown: {args:?}").into()),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failed> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    run(&args.iter().map(String::as_str).collect::<Vec<_>>()).await
}
