#include "plan/measured_job.hpp"

#include "plan/make_plan.hpp"

namespace cpplan::plan {
namespace {

engine::Documents in_every_sample(const std::vector<Index>& lengths, int samples) {
  engine::Documents documents;
  for (int sample = 0; sample < samples; ++sample)
    for (const Index tokens : lengths) documents.push_back({tokens, sample});
  return documents;
}

Index rows_needed(const engine::Job& job, const engine::Documents& documents) {
  const auto split = job.context_parallel.split;
  return layout::SequenceMap::padded(split, job.dims.cp, documents,
                                     engine::rows_multiple(job.dims, split))
      .rows();
}

}  // namespace

Result<MeasuredJob> measured_job(const Plan& plan) {
  auto job = make_job(plan);
  if (!job) return tl::unexpected(job.error());
  if (!plan.documents) return MeasuredJob{*job, engine::dense_documents(*job)};
  auto documents = in_every_sample(plan.documents->lengths, job->micro_batch_size);
  job->capacity = rows_needed(*job, documents);
  return MeasuredJob{std::move(*job), std::move(documents)};
}

}  // namespace cpplan::plan
