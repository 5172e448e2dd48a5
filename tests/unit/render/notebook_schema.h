// What of nbformat 4.5's schema our notebooks must heed, checked here so that it is checked everywhere; and nbformat itself, where the
// system's Python has it. Tests only.
#ifndef CELLBLOCK_TESTS_UNIT_RENDER_NOTEBOOK_SCHEMA_H_
#define CELLBLOCK_TESTS_UNIT_RENDER_NOTEBOOK_SCHEMA_H_

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/render/boost_json.h"

namespace cellblock::render {

inline std::set<std::string> NamesOf(const boost::json::object& object) {
  std::set<std::string> names;
  for (const auto& member : object) names.emplace(member.key().data(), member.key().size());
  return names;
}

inline void ExpectCount(const boost::json::value& count) { EXPECT_TRUE(count.is_null() || (count.is_int64() && count.as_int64() >= 0)); }

// ^application/(.*\+)?json$, where a dot is no newline.
inline bool MayBeJson(const std::string& type) {
  return type == "application/json" || (type.starts_with("application/") && type.ends_with("+json") && type.find('\n') == std::string::npos);
}

inline void ExpectValidOutput(const boost::json::object& output) {
  using Names = std::set<std::string>;
  const std::string type = Text(output.at("output_type"));
  if (type == "stream") {
    EXPECT_EQ(NamesOf(output), (Names{"output_type", "name", "text"}));
    EXPECT_TRUE(output.at("name") == "stdout" || output.at("name") == "stderr");
    EXPECT_TRUE(output.at("text").is_string());
    return;
  }
  if (type == "error") {
    EXPECT_EQ(NamesOf(output), (Names{"output_type", "ename", "evalue", "traceback"}));
    EXPECT_TRUE(output.at("ename").is_string() && output.at("evalue").is_string());
    for (const boost::json::value& line : output.at("traceback").as_array()) EXPECT_TRUE(line.is_string());
    return;
  }
  Names names = {"output_type", "data", "metadata"};
  if (type == "execute_result") {
    names.insert("execution_count");
    ExpectCount(output.at("execution_count"));
  } else {
    EXPECT_EQ(type, "display_data");
  }
  EXPECT_EQ(NamesOf(output), names);
  EXPECT_TRUE(output.at("metadata").is_object());
  for (const auto& member : output.at("data").as_object()) {
    EXPECT_TRUE(member.value().is_string() || MayBeJson(std::string(member.key()))) << member.key();
  }
}

inline void ExpectValidNotebook(const std::string& notebook) {
  using Names = std::set<std::string>;
  auto value = ParseStrictly(notebook);
  ASSERT_TRUE(value.has_value()) << notebook.substr(0, 1000);
  const boost::json::object& top = value->as_object();
  EXPECT_EQ(NamesOf(top), (Names{"cells", "metadata", "nbformat", "nbformat_minor"}));
  EXPECT_EQ(top.at("nbformat"), 4);
  EXPECT_EQ(top.at("nbformat_minor"), 5);
  EXPECT_TRUE(top.at("metadata").at("kernelspec").at("name").is_string());
  std::set<std::string> ids;
  for (const boost::json::value& item : top.at("cells").as_array()) {
    const boost::json::object& cell = item.as_object();
    const std::string id = Text(cell.at("id"));
    EXPECT_THAT(id, ::testing::MatchesRegex("[a-zA-Z0-9_-]{1,64}"));
    EXPECT_TRUE(ids.insert(id).second) << id;
    EXPECT_TRUE(cell.at("metadata").is_object());
    EXPECT_TRUE(cell.at("source").is_string());
    if (cell.at("cell_type") != "code") {
      EXPECT_EQ(NamesOf(cell), (Names{"cell_type", "id", "metadata", "source"}));
      continue;
    }
    EXPECT_EQ(NamesOf(cell), (Names{"cell_type", "id", "metadata", "source", "execution_count", "outputs"}));
    ExpectCount(cell.at("execution_count"));
    for (const boost::json::value& output : cell.at("outputs").as_array()) ExpectValidOutput(output.as_object());
  }
}

inline bool HasNbformat() { return std::system("/usr/bin/python3 -c 'import nbformat' 2>/dev/null") == 0; }

// As Jupyter opens and saves it. Call only if HasNbformat().
inline bool NbformatTakes(const std::string& notebook) {
  const std::string path = ::testing::TempDir() + "cellblock-notebook-" + std::to_string(getpid()) + ".ipynb";
  std::ofstream(path) << notebook;
  const int status = std::system(
      ("/usr/bin/python3 -c 'import nbformat, sys; book = nbformat.read(sys.argv[1], as_version=4); nbformat.validate(book); nbformat.writes(book)' '" + path + "'").c_str());
  std::remove(path.c_str());
  return status == 0;
}

}  // namespace cellblock::render

#endif  // CELLBLOCK_TESTS_UNIT_RENDER_NOTEBOOK_SCHEMA_H_
