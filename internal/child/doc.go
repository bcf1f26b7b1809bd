// Package child runs programs on loopback that something is held against or measured
// of: they end with the process that started them at the latest, however that ends.
package child
