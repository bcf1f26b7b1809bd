module github.com/seglog/seglog/interop/suites

go 1.26.0
