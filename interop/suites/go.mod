module github.com/seglog/seglog/interop/suites

go 1.26.0

replace github.com/seglog/seglog => ../..

require github.com/seglog/seglog v0.0.0-00010101000000-000000000000
