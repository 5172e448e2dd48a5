// What the supervisor computes for a call, and the parts of a hand-out that need no jail (which kind it is; its message, there and back), over
// and over, for a counter of instructions: no process, no clock, no wait.
// Usage: counted_paths NAME TIMES      NAME: call, call_with_text, hand_out
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "render/record_json.h"
#include "session/pool.h"
#include "supervise/outcome.h"
#include "supervise/output_pump.h"
#include "wire/frame.h"
#include "wire/messages.h"

namespace cellblock {
namespace {

constexpr uint64_t kNonce = 7;
constexpr size_t kBundleBytesMax = 32 << 20;

template <typename T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) std::abort();
  return *std::move(value);
}

// What a worker sends for `1+1`: the value, and the end.
std::string Answer() {
  wire::GuestOutput output;
  output.mime = {"text/plain", "t", "2"};
  output.metadata = "{}";
  return wire::EncodeFrame(wire::FrameType::kResult, kNonce, wire::EncodeBody(output)) + wire::EncodeFrame(wire::FrameType::kDone, kNonce, wire::EncodeBody(wire::CellDone{}));
}

size_t Call(const Policy& policy, const std::string& answer, absl::string_view text) {
  wire::ExecuteCell cell;
  cell.code = "1+1";
  size_t bytes = wire::EncodeFrame(wire::FrameType::kExecute, kNonce, wire::EncodeBody(cell)).size();
  Record record;
  supervise::OutputPump pump(policy, nullptr, nullptr, nullptr, absl::UnixEpoch(), record);
  pump.AddLate(text, "");
  wire::FrameParser parser(kBundleBytesMax);
  parser.Append(answer);
  supervise::Evidence evidence;
  while (!evidence.done.has_value()) {
    const std::optional<wire::Frame> frame = Must(parser.Next());
    if (frame->type == wire::FrameType::kDone) {
      evidence.done = Must(wire::DecodeBody<wire::CellDone>(frame->body));
    } else {
      pump.AddOutput(Event::Type::kResult, Must(wire::DecodeBody<wire::GuestOutput>(frame->body)));
    }
  }
  pump.Finish();
  supervise::Classify(evidence, policy, record);
  return bytes + render::RenderRecordJson(record).size();
}

size_t HandOut(const Policy& policy, const Policy& kind) {
  if (!(session::KindOf(policy) == kind)) std::abort();
  wire::StartSession start;
  start.time_zone = policy.determinism.time_zone;
  for (int i = 0; i < 24; ++i) start.environment.push_back(absl::StrCat("SOME_VARIABLE_", i, "=some value of usual length"));
  const std::string frame = wire::EncodeFrame(wire::FrameType::kStart, 0, wire::EncodeBody(start));
  wire::FrameParser parser(kBundleBytesMax);
  parser.Append(frame);
  return Must(wire::DecodeBody<wire::StartSession>(Must(parser.Next())->body)).environment.size();
}

}  // namespace
}  // namespace cellblock

int main(int argc, char** argv) {
  using namespace cellblock;
  const Policy policy;
  const std::string answer = Answer();
  std::string text;
  for (int i = 0; i < 640; ++i) absl::StrAppend(&text, "line ", i % 100, " of a text that code has printed, as long as lines of such texts often are, about a hundred\n");
  const std::map<std::string, std::function<size_t()>> paths = {{"call", [&] { return Call(policy, answer, ""); }},
                                                                {"call_with_text", [&] { return Call(policy, answer, text); }},
                                                                {"hand_out", [&, kind = session::KindOf(policy)] { return HandOut(policy, kind); }}};
  const auto path = argc == 3 ? paths.find(argv[1]) : paths.end();
  if (path == paths.end()) return std::fprintf(stderr, "usage: counted_paths call|call_with_text|hand_out TIMES\n"), 2;
  size_t sum = 0;
  for (int i = std::atoi(argv[2]); i > 0; --i) sum += path->second();
  return sum == 0 ? 1 : 0;
}
