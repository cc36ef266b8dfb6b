module collations

go 1.23

require vitess.io/vitess v0.21.4
