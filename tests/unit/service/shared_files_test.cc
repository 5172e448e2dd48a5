// Shared files: what a token may have of them.
#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/service/service_fixture.h"

namespace cellblock::service {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SharedBytesTest : public ServiceTest {
 protected:
  // A file of holes, which is not read: its hash is whatever is said.
  absl::Status Put(const Token& token, absl::string_view name, int64_t size_bytes, char digit = 'a') {
    const UniqueFd file = *sys::Open(folder_.path(), O_RDWR | O_TMPFILE, 0600);
    EXPECT_EQ(ftruncate(file.get(), size_bytes), 0);
    return service().PutSharedFile(By(token), name, file.get(), std::string(64, digit)).status();
  }
};

TEST_F(SharedBytesTest, ATokenHasAQuarterOfTheStoreUnlessItsEntrySaysOtherwise) {
  constexpr int64_t kQuarter = (int64_t{10} << 30) / 4;
  EXPECT_THAT(Put(anna_, "a", kQuarter + 1), AllOf(HasCode("shared_files_full"), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr(absl::StrCat(kQuarter, " bytes together (shared_bytes), 0 are taken")))));
  EXPECT_THAT(Put(anna_, "a", kQuarter), IsOk());
  EXPECT_THAT(Put(anna_, "b", 1, 'b'), HasCode("shared_files_full"));
  EXPECT_THAT(Put(ben_, "a", kQuarter), IsOk()) << "the other half of a half";
  ben_.shared_bytes_max = 4;
  EXPECT_THAT(Put(ben_, "a", 4, 'c'), IsOk());
  EXPECT_THAT(Put(ben_, "a", 5, 'd'), HasCode("shared_files_full"));
  ben_.shared_bytes_max = 0;
  EXPECT_THAT(Put(ben_, "b", 1, 'e'), HasCode("shared_files_full"));
}

}  // namespace
}  // namespace cellblock::service
