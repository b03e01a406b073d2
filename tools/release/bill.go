package main

import (
	"bytes"
	"runtime/debug"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// bill returns the parts of a platform's pawl, in the format CycloneDX, as the program
// itself says: its modules, and the Go that built it.
func (r *set) bill(p product) ([]byte, error) {
	bom := cdx.NewBOM()
	pawl := component(&debug.Module{Path: p.info.Main.Path, Version: p.info.Main.Version})
	pawl.Type = cdx.ComponentTypeApplication
	bom.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &pawl}
	parts := []cdx.Component{component(&debug.Module{Path: "stdlib", Version: strings.TrimPrefix(p.info.GoVersion, "go")})}
	names := []string{parts[0].BOMRef}
	for _, m := range p.info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, component(m))
		names = append(names, parts[len(parts)-1].BOMRef)
	}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: pawl.BOMRef, Dependencies: &names}}
	var b bytes.Buffer
	err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	return b.Bytes(), err
}

func component(m *debug.Module) cdx.Component {
	url := "pkg:golang/" + m.Path + "@" + m.Version
	return cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, Name: m.Path, Version: m.Version, PackageURL: url}
}
