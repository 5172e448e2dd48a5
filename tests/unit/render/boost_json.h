// A second opinion on our JSON: Boost.JSON's strict parser. Tests only.
#ifndef CELLBLOCK_TESTS_UNIT_RENDER_BOOST_JSON_H_
#define CELLBLOCK_TESTS_UNIT_RENDER_BOOST_JSON_H_

#include <boost/json.hpp>
#include <optional>
#include <string>

namespace cellblock::render {

inline std::optional<boost::json::value> ParseStrictly(const std::string& text, size_t max_depth = 600) {
  boost::json::parse_options options;
  options.max_depth = max_depth;
  boost::json::error_code ec;
  boost::json::value value = boost::json::parse(text, ec, {}, options);
  if (ec) return std::nullopt;
  return value;
}

inline std::string Text(const boost::json::value& value) { return std::string(value.as_string().c_str(), value.as_string().size()); }

}  // namespace cellblock::render

#endif  // CELLBLOCK_TESTS_UNIT_RENDER_BOOST_JSON_H_
