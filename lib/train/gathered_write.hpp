#pragma once
// --checkpoint-writer gather: the slices of all ranks by way of rank 0, who alone opens the files.
// For file systems that many writers hurt (NFS). Training waits meanwhile.
#include <filesystem>

#include "checkpoint/file_set.hpp"
#include "checkpoint/write.hpp"
#include "train/byte_channel.hpp"

namespace cpplan::train {

/// Within which rank 0 writes all of it to any disk that is worth the name: a rank waits while
/// those before it are written.
Seconds longest_wait(const checkpoint::FileSet&);

/// As checkpoint::write_pieces() on every rank. Collective over the world. Throws Failure where
/// rank 0 cannot write, or the deadline of the endpoint passes.
void write_gathered(const std::filesystem::path& temporary, const checkpoint::FileSet&,
                    std::span<const checkpoint::Piece>, const Rank&, ByteChannel&);

}  // namespace cpplan::train
