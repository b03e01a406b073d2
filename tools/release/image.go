package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// The shapes of the OCI image specification, as far as they are used here.
type (
	descriptor struct {
		MediaType string            `json:"mediaType"`
		Digest    string            `json:"digest"`
		Size      int               `json:"size"`
		Platform  *ociPlatform      `json:"platform,omitempty"`
		Notes     map[string]string `json:"annotations,omitempty"`
	}
	ociPlatform struct {
		Architecture string `json:"architecture"`
		OS           string `json:"os"`
	}
	manifestOfImage struct {
		Version   int          `json:"schemaVersion"`
		MediaType string       `json:"mediaType"`
		Config    descriptor   `json:"config"`
		Layers    []descriptor `json:"layers"`
	}
	index struct {
		Version   int          `json:"schemaVersion"`
		MediaType string       `json:"mediaType"`
		Manifests []descriptor `json:"manifests"`
	}
	imageConfig struct {
		Created time.Time `json:"created"`
		ociPlatform
		Config struct {
			Env    []string          `json:"Env"`
			Entry  []string          `json:"Entrypoint"`
			Folder string            `json:"WorkingDir"`
			Labels map[string]string `json:"Labels"`
		} `json:"config"`
		RootFS struct {
			Type    string   `json:"type"`
			DiffIDs []string `json:"diff_ids"`
		} `json:"rootfs"`
	}
)

const ociImage = "application/vnd.oci.image."

// blobs are the files of an image, by their content.
type blobs []file

func (b *blobs) add(kind string, data []byte) descriptor {
	digest := fmt.Sprintf("%x", sha256.Sum256(data))
	*b = append(*b, file{"blobs/sha256/" + digest, 0o644, data})
	return descriptor{MediaType: ociImage + kind, Digest: "sha256:" + digest, Size: len(data)}
}

func (b *blobs) addJSON(kind string, v any) (descriptor, error) {
	data, err := json.Marshal(v)
	return b.add(kind, data), err
}

// image is a container image, as the tar archive of an OCI layout: a root file system that
// has git, of whose making the release knows nothing, and Pawl on top of it.
func (r *set) image(p product, base string) ([]byte, error) {
	under, err := readTar(base)
	if err != nil {
		return nil, err
	}
	files, err := installed(p)
	if err != nil {
		return nil, err
	}
	over, err := tape(files, r.time)
	if err != nil {
		return nil, err
	}
	var all blobs
	m := manifestOfImage{Version: 2, MediaType: ociImage + "manifest.v1+json"}
	c := imageConfig{Created: r.time, ociPlatform: ociPlatform{p.arch, p.os}}
	c.RootFS.Type = "layers"
	for _, layer := range [][]byte{under, over} {
		c.RootFS.DiffIDs = append(c.RootFS.DiffIDs, fmt.Sprintf("sha256:%x", sha256.Sum256(layer)))
		data, err := packed(layer)
		if err != nil {
			return nil, err
		}
		m.Layers = append(m.Layers, all.add("layer.v1.tar+gzip", data))
	}
	c.Config.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	c.Config.Entry, c.Config.Folder = []string{"/usr/bin/pawl"}, "/work"
	c.Config.Labels = map[string]string{"org.opencontainers.image.source": page, "org.opencontainers.image.version": r.version}
	if m.Config, err = all.addJSON("config.v1+json", c); err != nil {
		return nil, err
	}
	top, err := all.addJSON("manifest.v1+json", m)
	if err != nil {
		return nil, err
	}
	top.Platform, top.Notes = &c.ociPlatform, map[string]string{"org.opencontainers.image.ref.name": strings.NewReplacer("+", "_").Replace(r.version)}
	list, err := json.Marshal(index{2, ociImage + "index.v1+json", []descriptor{top}})
	if err != nil {
		return nil, err
	}
	return tape(append([]file{
		{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		{"index.json", 0o644, list},
	}, all...), r.time)
}

// readTar reads a tar archive, which may be compressed.
func readTar(name string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
