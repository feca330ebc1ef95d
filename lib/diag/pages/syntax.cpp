// CP0: the text of the file.
#include <array>

#include "diag/pages.hpp"

namespace cpplan::diag {
namespace {

constexpr auto whole = Base::none;

// clang-format off
constexpr std::array table = {
    Page{"CP001", "Nothing of a file that is no YAML reaches the framework. The message names the place where reading stopped, which can lie after the mistake.",
         {"run_name: lr: 1e-4"}, {"run_name: \"lr: 1e-4\""}, "YAML 1.1, PyYAML's scanner"},
    Page{"CP002", "PyYAML refuses a tab where a token may begin; editors show it as spaces.",
         {"sequence_len:\t4096"}, {"sequence_len: 4096"}, "PyYAML's scanner"},
    Page{"CP003", "PyYAML keeps the last value without a word, so that a reader of the first is misled.",
         {"max_steps: 10\nmax_steps: 20"}, {"max_steps: 20"}, "PyYAML's constructor"},
    Page{"CP004", "A byte that is no UTF-8, or a control character, stops PyYAML.",
         {"run_name: a\x01" "b"}, {"run_name: ab"}, "YAML 1.1, section 5.1"},
    Page{"CP005", "A zero-width space comes with text copied from web pages; it turns a number into a text and a key into an unknown one.",
         {"micro_batch_size: \xE2\x80\x8B" "1"}, {"micro_batch_size: 1"}, "PyYAML's resolver"},
    Page{"CP006", "An alias stands for a value that an anchor has named above it.",
         {"max_steps: *steps"}, {"eval_steps: &steps 100\nsave_steps: *steps\nval_set_size: 0.05"}, "YAML 1.1, section 7.1"},
    Page{"CP007", "A value that contains itself has no end.",
         {"plugins: &p [*p]"}, {"plugins: []"}, "YAML 1.1, section 7.1"},
    Page{"CP008", "A loader of one document stops at a second.",
         {"base_model: a\n---\nbase_model: b", "", whole}, {"---\nbase_model: ./models/tiny\nlearning_rate: 0.0001\ndatasets: [{path: d, type: completion}]\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\n", "", whole}, "PyYAML's safe_load"},
    Page{"CP009", "There is nothing to train.",
         {"# nothing\n", "", whole}, {"max_steps: 10"}, "axolotl's schema"},
    Page{"CP010", "A config is a mapping of keys to values.",
         {"- sequence_len: 4096\n", "", whole}, {"sequence_len: 4096"}, "axolotl's schema"},
    Page{"CP011", "Python's recursion ends long before memory does, and no setting needs that depth.",
         {"plugins: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"},
         {"plugins: [[]]"}, "PyYAML's constructor"},
    Page{"CP012", "A safe loader builds YAML's own types alone; a tag like !!python/object would run code.",
         {"sequence_len: !!python/object/apply:os.getpid []"}, {"sequence_len: !!int 4096"}, "PyYAML's SafeLoader"},
    Page{"CP013", "A merge key takes over the members of another mapping.",
         {"<<: 5"}, {"<<: {max_steps: 10}"}, "YAML's merge key"},
    Page{"CP014", "A list or a mapping as a key has no name that a framework could look up.",
         {"? [a, b]\n: 1"}, {"max_steps: 1"}, "PyYAML's constructor"},
    Page{"CP015", "A no-break space looks like a space and is none: it becomes part of the key or value.",
         {"max_steps: 10\xC2\xA0"}, {"max_steps: 10"}, "PyYAML's scanner"},
};
// clang-format on

}  // namespace

std::span<const Page> syntax_pages() {
  return table;
}

}  // namespace cpplan::diag
