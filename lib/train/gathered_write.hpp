#pragma once
// --checkpoint-writer gather: the slices of all ranks by way of rank 0, who alone opens the files.
// For file systems that many writers hurt (NFS). Training waits meanwhile.
#include <filesystem>

#include "checkpoint/file_set.hpp"
#include "checkpoint/write.hpp"
#include "train/byte_channel.hpp"

namespace cpplan::train {

/// As checkpoint::write_pieces() on every rank. Collective over the world. Throws Failure where
/// rank 0 cannot write.
void write_gathered(const std::filesystem::path& temporary, const checkpoint::FileSet&,
                    std::span<const checkpoint::Piece>, const Rank&, ByteChannel&);

}  // namespace cpplan::train
