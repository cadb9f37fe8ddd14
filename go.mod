module tollbooth

go 1.24
