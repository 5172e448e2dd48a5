// The smallest useful program: a CSV goes in, Python runs over it in a locked-down worker, a value and a chart come out.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "cellblock/host.h"

int main(int argc, char** argv) {
  if (argc != 3) return std::cerr << "usage: consumer PYTHON_ENVIRONMENT FILE.csv\n", 2;
  cellblock::HostOptions options;
  options.python_environment = argv[1];
  auto host = cellblock::Host::Create(options);
  if (!host.ok()) return std::cerr << host.status() << "\n", 4;
  auto session = (*host)->CreateSession(cellblock::Policy{});
  if (!session.ok()) return std::cerr << session.status() << "\n", 4;
  int file = open(argv[2], O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::perror(argv[2]), 2;
  if (auto put = (*session)->PutFile(file, "data.csv"); !put.ok()) return std::cerr << put << "\n", 4;
  close(file);
  auto record = (*session)->Execute("import pandas as pd\ndf = pd.read_csv('data.csv')\ndf.plot()\nlen(df)");
  if (!record.ok()) return std::cerr << record.status() << "\n", 4;
  std::cout << "status: " << cellblock::CallStatusName(record->status) << "\n" << record->stdout_text;
  if (record->error.has_value()) std::cout << record->error->traceback << "\n";
  for (const cellblock::Result& result : record->results) {
    for (const cellblock::MimeData& mime : result.mime) {
      std::cout << mime.type << ": " << (mime.is_text ? mime.data : std::to_string(mime.data.size()) + " bytes") << "\n";
    }
  }
  return record->status == cellblock::CallStatus::kOk ? 0 : 1;
}
