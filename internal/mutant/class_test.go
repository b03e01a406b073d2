package mutant_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A class in C++ has its functions in a header.
func TestChangedInAClass(t *testing.T) {
	t.Parallel()
	const header = `
template <class T> class Ring final : public Base<T> {
public:
	explicit Ring(int n) { n_ = n; }
	virtual bool push(T t) { return put(t); }
	const std::string &name() const { return name_; }
	virtual bool pop();
};
`
	const want = `4 Ring.Ring new
  zero: does nothing
5 Ring.push new
  zero: returns 0
6 Ring.name new
  zero: returns {}
`
	if diff := cmp.Diff(want, told("a.hpp", "", header)); diff != "" {
		t.Error(diff)
	}
}
