// The server over loopback sockets, before sessions without a jail: slow and silent clients, the bounds of heads and bodies at their
// edge, as many connections as may be, streams of events, and whom it refuses to listen for.
#include "front/http/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/unique_fd.h"
#include "front/http/api.h"
#include "front/http/io_threads.h"
#include "tests/unit/service/service_fixture.h"

namespace cellblock::front {
namespace {

using service::kPatience;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A client that sends what it is told, in its own time. Whatever it waits for comes within kPatience, or the test fails.
class Client {
 public:
  // Whether somebody takes connections there.
  static bool IsTaken(uint16_t port) {
    const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = Loopback(port);
    return connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  explicit Client(uint16_t port, int receive_bytes = 0) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval limit = {absl::ToInt64Seconds(kPatience), 0};
    EXPECT_EQ(setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
    if (receive_bytes > 0) {
      EXPECT_EQ(setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes)), 0);
    }
    const sockaddr_in address = Loopback(port);
    EXPECT_EQ(connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  void Send(const std::string& text) { EXPECT_EQ(send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size())); }
  void SendWhatGoes(const std::string& text) { [[maybe_unused]] ssize_t sent = send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL); }
  // What comes until `end`, or until the server closes. A time-out fails the test.
  std::string ReadUntil(const std::string& end) {
    std::string text;
    char chunk[65536];
    for (size_t looked = 0; end.empty() || text.find(end, looked) == std::string::npos;) {
      looked = text.size() - std::min(text.size(), end.size());
      const ssize_t count = recv(socket_.get(), chunk, sizeof(chunk), 0);
      if (count < 0 && errno == ECONNRESET) break;
      EXPECT_GE(count, 0) << "nothing came: " << strerror(errno) << " after " << text.substr(0, 200);
      if (count <= 0) break;
      text.append(chunk, static_cast<size_t>(count));
    }
    return text;
  }
  std::string ReadToEnd() { return ReadUntil(""); }
  void Close() { socket_.Reset(); }

 private:
  static sockaddr_in Loopback(uint16_t port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }
  UniqueFd socket_;
};

class ServerTest : public service::ServiceTest {
 protected:
  ServerTest() {
    http_.port = 0;
    http_.incoming_folder = folder_.PathOf("incoming");
    std::filesystem::create_directory(http_.incoming_folder);
    http_.anonymous.name = "anonymous";
    options_.incoming_folder = http_.incoming_folder;
  }
  ~ServerTest() override {
    if (server_ == nullptr) return;
    service().Stop(absl::ZeroDuration());
    server_->Drain(kPatience);
    threads_.Stop();
  }
  uint16_t Port() {
    if (server_ == nullptr) {
      ApiOptions api;
      api.version = "test";
      api.environments_json = [] { return "[]"; };
      api.background = [this](std::function<void()> work) { threads_.Background(std::move(work)); };
      api_ = std::make_unique<Api>(service(), std::move(api));
      auto listening = HttpServer::Listen(http_, threads_, *api_, [this](const std::string& id) { service().CancelExecution(id); });
      EXPECT_THAT(listening, IsOk());
      server_ = *std::move(listening);
    }
    uint32_t port = 0;
    EXPECT_TRUE(absl::SimpleAtoi(server_->address().substr(server_->address().rfind(':') + 1), &port));
    return static_cast<uint16_t>(port);
  }
  std::string NewSession() { return NewSessionOf(http_.anonymous); }
  static std::string Post(const std::string& path, const std::string& body, const std::string& headers = "") {
    return absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: localhost\r\nContent-Length: ", body.size(), "\r\n", headers, "\r\n", body);
  }
  std::string Stream(const std::string& session, const std::string& code) {
    return Post(absl::StrCat("/v1/sessions/", session, "/execute"), absl::StrCat("{\"code\":\"", code, "\"}"), "Accept: text/event-stream\r\nConnection: close\r\n");
  }
  std::string Ask(const std::string& request) {
    Client client(Port());
    client.Send(request);
    return client.ReadToEnd();
  }

  HttpServerOptions http_;
  IoThreads threads_{64};
  std::unique_ptr<Api> api_;
  std::unique_ptr<HttpServer> server_;
};

constexpr char kHealth[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n";

TEST_F(ServerTest, AClientWhoseHeadersDoNotComeLosesTheConnection) {
  http_.idle_timeout = absl::Milliseconds(200);
  Client slow(Port());
  slow.Send(kHealth);
  EXPECT_EQ(slow.ReadToEnd(), "");
  Client silent(Port());
  EXPECT_EQ(silent.ReadToEnd(), "");
  EXPECT_THAT(Ask(absl::StrCat(kHealth, "Connection: close\r\n\r\n")), StartsWith("HTTP/1.1 200"));
}

TEST_F(ServerTest, AConnectionThatIsUsedAgainHasItsTimeAnew) {
  http_.idle_timeout = absl::Seconds(5);
  Client client(Port());
  for (int i = 0; i < 3; ++i) {
    client.Send(absl::StrCat(kHealth, "\r\n"));
    EXPECT_THAT(client.ReadUntil("\"ok\"}"), StartsWith("HTTP/1.1 200"));
  }
}

TEST_F(ServerTest, ABodyThatDoesNotComeIsToldSo) {
  http_.transfer_timeout = absl::Milliseconds(200);
  Client slow(Port());
  slow.Send("POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{");
  EXPECT_THAT(slow.ReadToEnd(), testing::AllOf(StartsWith("HTTP/1.1 408"), HasSubstr("\"too_slow\"")));
  EXPECT_THAT(Ask(Post("/v1/sessions", "{}", "Connection: close\r\n")), StartsWith("HTTP/1.1 201"));
}

TEST_F(ServerTest, ABodyThatDripsIsToldSo) {
  http_.transfer_timeout = absl::Milliseconds(300);
  http_.bytes_per_second_min = 1'000'000;
  Client slow(Port());
  slow.Send("POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n");
  ASSERT_TRUE(Eventually([&] { return server_->connections() == 1; }));
  std::string answer;
  service::Threads reader;
  reader.Run([&] { answer = slow.ReadUntil("slower than"); });
  for (int i = 0; i < 3000 && server_->connections() > 0; ++i) {  // far more than transfer_timeout altogether, far less than it between two bytes
    slow.SendWhatGoes(" ");  // it may have closed since the look
    absl::SleepFor(absl::Milliseconds(10));
  }
  reader.Join();
  EXPECT_THAT(answer, testing::AllOf(StartsWith("HTTP/1.1 408"), HasSubstr("slower than")));
}

TEST_F(ServerTest, AClientThatReadsNothingOfALongStreamHasItsCallTakenBack) {
  http_.transfer_timeout = absl::Milliseconds(200);
  const std::string session = NewSession();
  Client deaf(Port(), 4096);
  deaf.Send(Stream(session, "wait and print"));  // more than the sockets hold, and then nothing
  EXPECT_TRUE(Eventually([&] { return world_.interrupts() == 1; }));
  EXPECT_TRUE(Eventually([&] { return server_->connections() == 0; }));
  EXPECT_TRUE(Eventually([&] { return service().GetSession(By(http_.anonymous), session)->state == "idle"; }));
}

TEST_F(ServerTest, AClientThatReadsALongStreamGetsAllOfIt) {
  http_.transfer_timeout = absl::Milliseconds(200);
  http_.keep_alive = absl::Milliseconds(20);
  const std::string session = NewSession();
  Client client(Port(), 4096);
  client.Send(Stream(session, "wait and print"));
  EXPECT_THAT(client.ReadUntil("short"), HasSubstr("event: started\n"));
  client.ReadUntil(": keep-alive\n\n");  // the connection lives while nothing comes
  EXPECT_EQ(world_.interrupts(), 0);
  world_.Release("wait and print");
  EXPECT_THAT(client.ReadToEnd(), HasSubstr("event: done\n"));
  EXPECT_EQ(world_.interrupts(), 0);
}

TEST_F(ServerTest, AStreamOfACallThatIsRefusedEndsWithTheProblem) {
  EXPECT_THAT(Ask(Stream(NewSession(), "refused")), testing::AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("event: failed\n"), HasSubstr("no such code")));
  EXPECT_THAT(Ask(Stream("s-none", "1")), testing::AllOf(StartsWith("HTTP/1.1 404"), HasSubstr("session_not_found")));
}

TEST_F(ServerTest, AClientThatGoesAwayTakesItsCallBack) {
  const std::string session = NewSession();
  Client client(Port());
  client.Send(Post(absl::StrCat("/v1/sessions/", session, "/execute"), "{\"code\":\"wait\"}"));
  world_.WaitUntilRuns("wait");
  EXPECT_EQ(world_.interrupts(), 0);
  client.Close();
  EXPECT_TRUE(Eventually([&] { return world_.interrupts() == 1; }));
  EXPECT_TRUE(Eventually([&] { return service().GetSession(By(http_.anonymous), session)->state == "idle"; }));
}

TEST_F(ServerTest, HeadsAreTakenUpToTheirBound) {
  http_.header_bytes_max = 1024;
  auto of_size = [](size_t bytes) {
    const std::string head = absl::StrCat(kHealth, "Connection: close\r\nX: ");
    return absl::StrCat(head, std::string(bytes - head.size() - 4, 'x'), "\r\n\r\n");
  };
  const auto refused = testing::AllOf(StartsWith("HTTP/1.1 431"), HasSubstr("headers_too_large"), HasSubstr("1024 bytes"));
  EXPECT_THAT(Ask(of_size(1024)), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask(of_size(1025)), refused);
  EXPECT_THAT(Ask(of_size(100'000)), refused);
  EXPECT_THAT(Ask(absl::StrCat("GET /", std::string(2000, 'x'))), refused);
}

// Each of them is short: it is their sum that a server would have to keep.
TEST_F(ServerTest, HeadersThatComeOneAfterTheOtherAreTakenUpToTheSameBound) {
  http_.header_bytes_max = 1024;
  Client client(Port());
  client.Send(kHealth);
  std::string answer;
  service::Threads reader;
  reader.Run([&] { answer = client.ReadUntil("request_id"); });
  ASSERT_TRUE(Eventually([&] { return server_->connections() == 1; }));
  for (int i = 0; i < 3000 && server_->connections() == 1; ++i) {
    client.SendWhatGoes("X: y\r\n");
    absl::SleepFor(absl::Milliseconds(1));
  }
  reader.Join();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 431"));
}

TEST_F(ServerTest, ExtensionsAndTrailersOfABodyAreBounded) {
  const std::string head = "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
  std::string trailers, chunks;
  for (int i = 0; i < 20'000; ++i) absl::StrAppend(&trailers, "X: y\r\n");
  for (int i = 0; i < 20'000; ++i) absl::StrAppend(&chunks, "1\r\n \r\n");
  EXPECT_THAT(Ask(absl::StrCat(head, "2\r\n{}\r\n0\r\n", trailers, "\r\n")), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Ask(absl::StrCat(head, "2;", std::string(200'000, 'x'), "\r\n{}\r\n0\r\n\r\n")), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Ask(absl::StrCat(head, "2;a=b\r\n{}\r\n", chunks, "0\r\nX: y\r\n\r\n")), StartsWith("HTTP/1.1 201")) << "be each chunk a byte";
}

TEST_F(ServerTest, BodiesAreTakenUpToTheirBoundWhetherTheirLengthIsToldOrNot) {
  http_.json_bytes_max = 64;
  const std::string fits = absl::StrCat("{}", std::string(62, ' ')), long_one = fits + " ";
  EXPECT_THAT(Ask(Post("/v1/sessions", fits, "Connection: close\r\n")), StartsWith("HTTP/1.1 201"));
  EXPECT_THAT(Ask(Post("/v1/sessions", long_one, "Connection: close\r\n")), testing::AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("body_too_large")));
  auto chunked = [](const std::string& body) {
    return absl::StrCat("POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n20\r\n", body.substr(0, 32), "\r\n", absl::Hex(body.size() - 32), "\r\n",
                        body.substr(32), "\r\n0\r\n\r\n");
  };
  EXPECT_THAT(Ask(chunked(fits)), StartsWith("HTTP/1.1 201"));
  EXPECT_THAT(Ask(chunked(long_one)), testing::AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("body_too_large")));
}

TEST_F(ServerTest, AnUploadBeyondItsBoundIsRefusedBeforeItIsSent) {
  http_.upload_bytes_max = 4;
  const std::string path = absl::StrCat("PUT /v1/sessions/", NewSession(), "/files/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: ");
  EXPECT_THAT(Ask(absl::StrCat(path, "5\r\n\r\n")), testing::AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("body_too_large")));
  Client client(Port());
  client.Send(absl::StrCat(path, "4\r\n\r\n"));
  EXPECT_THAT(client.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 100"));
  client.Send("data");
  EXPECT_THAT(client.ReadToEnd(), StartsWith("HTTP/1.1 201"));
}

// A session whose files may have 4 KiB each.
class UploadTest : public ServerTest {
 protected:
  UploadTest() {
    folder_.Write("policies/default.yaml", "limits: {file_size: 4KiB}\n");
    EXPECT_THAT(shelf_.Read(), IsOk());
  }
  static std::string Head(const std::string& path, const std::string& headers) { return absl::StrCat("PUT ", path, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", headers, "\r\n"); }
  static std::string Told(int64_t bytes) { return absl::StrCat("Expect: 100-continue\r\nContent-Length: ", bytes, "\r\n"); }
  static constexpr char kChunked[] = "Transfer-Encoding: chunked\r\n";
  static std::string Chunk(size_t bytes) { return absl::StrCat(absl::Hex(bytes), "\r\n", std::string(bytes, 'x'), "\r\n"); }
  static std::string Multipart(const std::string& path, size_t bytes, const std::string& json) {
    return Post(path,
                absl::StrCat("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n", std::string(bytes, 'x'), "\r\n", json.empty() ? "" : "--b\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n",
                             json, json.empty() ? "" : "\r\n", "--b--\r\n"),
                "Content-Type: multipart/form-data; boundary=b\r\nConnection: close\r\n");
  }
  std::string FileOf(const std::string& session) { return absl::StrCat("/v1/sessions/", session, "/files/a"); }
  // Whether an upload of so many bytes is let begin.
  bool MayBegin(const std::string& path, int64_t bytes) {
    Client client(Port());
    client.Send(Head(path, Told(bytes)));
    return client.ReadUntil("\r\n\r\n").rfind("HTTP/1.1 100", 0) == 0;
  }
};

TEST_F(UploadTest, WhatItsSessionCannotTakeIsRefusedBeforeItIsSent) {
  const std::string path = FileOf(NewSession());
  EXPECT_THAT(Ask(Head(path, Told(4097))), testing::AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("file_too_large"), HasSubstr("4096 bytes, which limits.file_size of policy default allows")));
  EXPECT_TRUE(MayBegin(path, 4096));
  EXPECT_THAT(Ask(Head(FileOf("s-none"), Told(4097))), testing::AllOf(StartsWith("HTTP/1.1 404"), HasSubstr("session_not_found")));
  const std::string closed = NewSession();
  ASSERT_THAT(service().CloseSession(By(http_.anonymous), closed), IsOk());
  EXPECT_THAT(Ask(Head(FileOf(closed), Told(1))), testing::AllOf(StartsWith("HTTP/1.1 410"), HasSubstr("session_closed")));
}

TEST_F(UploadTest, WhatDoesNotTellItsLengthIsReadUpToTheSameLimit) {
  const std::string path = FileOf(NewSession());
  const auto refused = testing::AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("file_too_large"), HasSubstr("limits.file_size"));
  EXPECT_THAT(Ask(absl::StrCat(Head(path, kChunked), Chunk(4095), Chunk(1), "0\r\n\r\n")), StartsWith("HTTP/1.1 201"));
  EXPECT_THAT(Ask(absl::StrCat(Head(path, kChunked), Chunk(4095), Chunk(2))), refused) << "its end does not matter";
  const std::string files = path.substr(0, path.size() - 2);
  EXPECT_THAT(Ask(Multipart(files, 4096, "")), StartsWith("HTTP/1.1 201"));
  EXPECT_THAT(Ask(Multipart(files, 4097, "")), refused);
}

TEST_F(UploadTest, AFileOfARunIsBoundByThePolicyThatAllowsMost) {
  folder_.Write("policies/other.yaml", "limits: {file_size: 8KiB}\n");
  ASSERT_THAT(shelf_.Read(), IsOk());
  EXPECT_THAT(Ask(Multipart("/v1/run", 4097, R"({"code":"1","policy":"other"})")), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask(Multipart("/v1/run", 4097, R"({"code":"1"})")), testing::AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("limits.file_size allows 4096")));
  EXPECT_THAT(Ask(Multipart("/v1/run", 8193, R"({"code":"1","policy":"other"})")), testing::AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("8192 bytes, which limits.file_size of policy other allows")));
}

TEST_F(UploadTest, ASharedFileIsBoundByWhatItsTokenMayHave) {
  http_.anonymous.shared_bytes_max = 4;
  const auto refused = testing::AllOf(StartsWith("HTTP/1.1 507"), HasSubstr("shared_files_full"), HasSubstr("4 bytes together (shared_bytes), 0 are taken"));
  EXPECT_THAT(Ask(Head("/v1/shared-files/a", Told(5))), refused);
  EXPECT_THAT(Ask(absl::StrCat(Head("/v1/shared-files/a", kChunked), Chunk(5))), refused);
  EXPECT_THAT(Ask(Head("/v1/shared-files/..%2Fa", Told(1))), testing::AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("file_name_refused")));
  EXPECT_THAT(Ask(absl::StrCat(Head("/v1/shared-files/a", kChunked), Chunk(4), "0\r\n\r\n")), StartsWith("HTTP/1.1 201"));
  EXPECT_TRUE(MayBegin("/v1/shared-files/b", 4)) << "it may be the same content";
  EXPECT_FALSE(MayBegin("/v1/shared-files/b", 5));
}

TEST_F(UploadTest, AllOnTheirWayTogetherAreBoundedAndTheRoomIsFreeWhenOneHasGone) {
  http_.incoming_bytes_max = 1000;
  const std::string session = NewSession(), path = FileOf(session);
  const auto refused = testing::AllOf(StartsWith("HTTP/1.1 429"), HasSubstr("too_many_uploads"), HasSubstr("1000 bytes together (--incoming-bytes)"), HasSubstr("Retry-After: 5"));
  EXPECT_THAT(Ask(Head(path, Told(1001))), testing::AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("body_too_large"))) << "it would never fit";
  Client first(Port()), second(Port());
  first.Send(Head(path, Told(600)));
  EXPECT_THAT(first.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 100"));
  EXPECT_THAT(Ask(Head(path, Told(401))), refused) << "though nothing of the first has come yet";
  EXPECT_THAT(Ask(absl::StrCat(Head(path, kChunked), Chunk(401))), refused);
  EXPECT_THAT(Ask(Multipart(path.substr(0, path.size() - 2), 401, "")), refused);
  second.Send(Head(path, Told(400)));
  EXPECT_THAT(second.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 100"));
  EXPECT_THAT(Ask(Head(path, Told(1))), refused);
  first.Send("a piece");
  first.Close();  // the client vanishes
  ASSERT_TRUE(Eventually([&] { return MayBegin(path, 600); }));
  second.Send(std::string(400, 'x'));
  EXPECT_THAT(second.ReadToEnd(), StartsWith("HTTP/1.1 201"));
  ASSERT_TRUE(Eventually([&] { return MayBegin(path, 1000); })) << "one that is done, and those that were refused, hold nothing";
  EXPECT_TRUE(Eventually([&] { return Ask(absl::StrCat(Head(path, kChunked), Chunk(1000), "0\r\n\r\n")).rfind("HTTP/1.1 201", 0) == 0; }));
}

TEST_F(ServerTest, ConnectionsBeyondTheBoundAreToldToComeLater) {
  http_.connections_max = 1;
  Client first(Port());
  first.Send(absl::StrCat(kHealth, "\r\n"));
  EXPECT_THAT(first.ReadUntil("\"ok\"}"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Client(Port()).ReadToEnd(), testing::AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("Retry-After: 1")));
  first.Close();
  ASSERT_TRUE(Eventually([&] { return server_->connections() == 0; }));
  EXPECT_THAT(Ask(absl::StrCat(kHealth, "Connection: close\r\n\r\n")), StartsWith("HTTP/1.1 200"));
}

TEST_F(ServerTest, WhileItDrainsConnectionsEndWithTheirRequest) {
  const std::string session = NewSession();
  Client client(Port());
  client.Send(Post(absl::StrCat("/v1/sessions/", session, "/execute"), "{\"code\":\"wait\"}"));
  world_.WaitUntilRuns("wait");
  service::Threads drain;
  drain.Run([&] { server_->Drain(kPatience); });
  const uint16_t port = Port();
  ASSERT_TRUE(Eventually([&] { return !Client::IsTaken(port); })) << "no new ones are taken";
  world_.Release("wait");
  EXPECT_THAT(client.ReadToEnd(), testing::AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Connection: close")));
  drain.Join();
  EXPECT_EQ(server_->connections(), 0u);
}

class ListenTest : public ServerTest {
 protected:
  absl::StatusOr<std::unique_ptr<HttpServer>> Listen() {
    api_ = std::make_unique<Api>(service(), ApiOptions{});
    absl::StatusOr<std::unique_ptr<HttpServer>> server = HttpServer::Listen(http_, threads_, *api_, [](const std::string&) {});
    threads_.Stop();
    return server;
  }
};

TEST_F(ListenTest, WithoutTokensThisMachineAloneIsListenedFor) {
  http_.address = "0.0.0.0";
  EXPECT_THAT(Listen(), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("without tokens only this machine may call")));
}

TEST_F(ListenTest, WithTokensOthersAreListenedForToo) {
  service::Token token;
  token.name = "a";
  token.sha256 = std::string(64, 'a');
  const service::Tokens tokens = *service::Tokens::Create({token});
  http_.address = "0.0.0.0";
  http_.tokens = &tokens;
  EXPECT_THAT(Listen(), IsOk());
}

TEST_F(ListenTest, ANameIsNoAddress) {
  http_.address = "localhost";
  EXPECT_THAT(Listen(), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("listen on 127.0.0.1, ::1")));
}

TEST_F(ListenTest, HalfOfTlsIsRefused) {
  http_.certificate_file = "cert.pem";
  EXPECT_THAT(Listen(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("both a certificate and its key")));
  http_.certificate_file = "";
  http_.key_file = "key.pem";
  EXPECT_THAT(Listen(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("both a certificate and its key")));
}

TEST_F(ListenTest, ACertificateThatCannotBeReadIsNamed) {
  http_.certificate_file = folder_.PathOf("cert.pem");
  http_.key_file = folder_.PathOf("key.pem");
  EXPECT_THAT(Listen(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("cert.pem")));
}

TEST_F(ListenTest, AUnixSocketTakesNoPlaceOfAFile) {
  http_.unix_path = folder_.Write("socket", "a file");
  EXPECT_THAT(Listen(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is there and no socket")));
  http_.unix_path = folder_.PathOf(std::string(200, 'x'));
  EXPECT_THAT(Listen(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("longer than a socket's path")));
  http_.unix_path = folder_.PathOf("another");
  EXPECT_THAT(Listen(), IsOk());
}

}  // namespace
}  // namespace cellblock::front
