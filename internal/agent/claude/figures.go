package claude

import (
	"math"
	"strconv"
	"time"
)

// Figures of the client's are bounded as they are read: each is added up, turned into
// a time, and written as JSON again, which knows neither infinity nor the year 10000.
// What is not a number is 0.
type (
	count   int64   // of tokens
	dollars float64 // of cost
	delay   int64   // in milliseconds
	moment  int64   // in seconds since 1970
)

const (
	maxCount   = 1e15
	maxDollars = 1e9
	maxDelay   = 366 * 24 * float64(time.Hour/time.Millisecond)
	maxMoment  = 253_402_300_799 // the last second of the year 9999
)

func (c *count) UnmarshalJSON(b []byte) error   { *c = count(clampNumber(b, maxCount)); return nil }
func (d *dollars) UnmarshalJSON(b []byte) error { *d = dollars(clampNumber(b, maxDollars)); return nil }
func (d *delay) UnmarshalJSON(b []byte) error   { *d = delay(clampNumber(b, maxDelay)); return nil }
func (m *moment) UnmarshalJSON(b []byte) error  { *m = moment(clampNumber(b, maxMoment)); return nil }

// clampNumber returns a number limited to 0 to most.
func clampNumber(b []byte, most float64) float64 {
	n, _ := strconv.ParseFloat(string(b), 64) // a number that is too large becomes infinite, any other text 0
	if math.IsNaN(n) {
		return 0
	}
	return min(max(n, 0), most)
}
