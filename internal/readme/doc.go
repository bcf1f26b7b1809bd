// Package readme holds README.md to the code it shows. It is all tests.
package readme
