package telemetry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// The JSON form of OTLP: ids in hex, 64-bit numbers as strings, enums as numbers.

type object = map[string]any

const (
	scopeName     = "pawl"
	kindInternal  = 1
	statusError   = 2
	isCumulative  = 2
	maxTextLength = 1000 // maximum length of an attribute's text, in bytes
)

// encodeTraces returns the body of a request to /v1/traces.
func encodeTraces(resource []Attribute, version string, r Run) ([]byte, error) {
	spans := make([]any, 0, len(r.Spans))
	for _, s := range r.Spans {
		o := object{
			"traceId": r.Trace, "spanId": s.ID, "name": s.Name, "kind": kindInternal,
			"startTimeUnixNano": nanos(s.Start), "endTimeUnixNano": nanos(s.End),
		}
		with := s.Attributes
		if s.Parent != "" {
			o["parentSpanId"] = s.Parent
		}
		if s.Error != "" {
			o["status"] = object{"code": statusError}
			with = append(slices.Clip(with), Attribute{"error.type", s.Error})
		}
		o["attributes"] = encodeAttributes(with)
		spans = append(spans, o)
	}
	return encode("resourceSpans", object{
		"resource":   object{"attributes": encodeAttributes(resource)},
		"scopeSpans": []any{object{"scope": object{"name": scopeName, "version": version}, "spans": spans}},
	})
}

// encodeMetrics returns the body of a request to /v1/metrics.
func encodeMetrics(resource []Attribute, version string, r Run) ([]byte, error) {
	root := r.Spans[0]
	metrics := make([]any, 0, len(r.Metrics))
	for _, m := range r.Metrics {
		points := make([]any, 0, len(m.Points))
		for _, p := range m.Points {
			o := object{"attributes": encodeAttributes(p.Attributes), "startTimeUnixNano": nanos(root.Start), "timeUnixNano": nanos(root.End)}
			if m.Bounds == nil {
				o["asDouble"] = p.Sum
			} else {
				all, counts := 0, make([]string, len(p.Counts))
				for i, n := range p.Counts {
					all += n
					counts[i] = strconv.Itoa(n)
				}
				o["count"], o["sum"], o["bucketCounts"], o["explicitBounds"] = strconv.Itoa(all), p.Sum, counts, m.Bounds
			}
			points = append(points, o)
		}
		data, kind := object{"dataPoints": points, "aggregationTemporality": isCumulative}, "histogram"
		if m.Bounds == nil {
			kind, data["isMonotonic"] = "sum", true
		}
		metrics = append(metrics, object{"name": m.Name, "unit": m.Unit, "description": m.About, kind: data})
	}
	return encode("resourceMetrics", object{
		"resource":     object{"attributes": encodeAttributes(resource)},
		"scopeMetrics": []any{object{"scope": object{"name": scopeName, "version": version}, "metrics": metrics}},
	})
}

func encode(key string, o object) ([]byte, error) {
	data, err := json.Marshal(object{key: []any{o}})
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", key, err)
	}
	return data, nil
}

func encodeAttributes(all []Attribute) []any {
	out := make([]any, 0, len(all))
	for _, a := range all {
		out = append(out, object{"key": a.Key, "value": encodeValue(a.Value)})
	}
	return out
}

func encodeValue(v any) object {
	switch v := v.(type) {
	case int:
		return object{"intValue": strconv.Itoa(v)}
	case bool:
		return object{"boolValue": v}
	case float64:
		return object{"doubleValue": v}
	case []string:
		values := make([]any, 0, len(v))
		for _, text := range v {
			values = append(values, encodeValue(text))
		}
		return object{"arrayValue": object{"values": values}}
	default:
		text := fmt.Sprint(v)
		return object{"stringValue": text[:min(len(text), maxTextLength)]}
	}
}

func nanos(at time.Time) string { return strconv.FormatInt(at.UnixNano(), 10) }
