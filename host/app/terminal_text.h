// Makes text that a guest wrote harmless to a terminal, and numbers readable to people. Pure functions. Supervisor; trusts nothing.
#ifndef CELLBLOCK_APP_TERMINAL_TEXT_H_
#define CELLBLOCK_APP_TERMINAL_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace cellblock::app {

// Control sequences can move the cursor, set the window's title, fill the clipboard or type answers into the shell. So ESC and the
// other C0 controls become caret notation (^[), DEL ^?, C1 controls (U+0080 – U+009F) and bytes that are no UTF-8 become \x9b. Line
// feed, tab and carriage return stay, the last so that progress bars work.
std::string Neutralize(absl::string_view text);

// As Neutralize, for one name or message within a line: line feed, tab and carriage return are escaped too, and so are characters
// that hide or reorder text (policy::IsHidden), with which a name can look like another one.
std::string NeutralizeLine(absl::string_view text);

// "512 bytes", "1.5 KiB", "3.4 MiB".
std::string ReadableBytes(int64_t bytes);

// "1 file", "2 files".
std::string Counted(int64_t count, absl::string_view one, absl::string_view several);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_TERMINAL_TEXT_H_
