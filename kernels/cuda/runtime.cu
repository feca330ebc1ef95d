// runtime.hpp on the CUDA runtime.
#include "kernels/cuda/runtime.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/failure.hpp"

namespace cpplan::kernels::cuda {
namespace {

std::size_t size(Bytes bytes) {
  return static_cast<std::size_t>(bytes.count);
}

std::string describe(int error) {
  const auto code = static_cast<cudaError_t>(error);
  return std::string(cudaGetErrorString(code)) + " (" + cudaGetErrorName(code) + ")";
}

std::string where(Place place) {
  return std::string(place.file_name()) + ":" + std::to_string(place.line());
}

int current_device() {
  int device = -1;
  return cudaGetDevice(&device) == cudaSuccess ? device : -1;
}

/// "9.0"
std::string version_of(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

/// Why the build does not run on the device. The code of another capability of the same generation
/// would start, and ask for more shared memory than there is: 8.6 and 8.9 have less than 8.0.
std::string problem_of(int device) {
  constexpr int built_for[] = {__CUDA_ARCH_LIST__};  // 900 for 9.0
  const DeviceProperties found = device_properties(device);
  const int capability = found.compute_capability;
  if (std::find(std::begin(built_for), std::end(built_for), 10 * capability) != std::end(built_for))
    return {};
  std::string versions;
  for (const int built : built_for)
    versions += (versions.empty() ? "" : ", ") + version_of(built / 10);
  return "device " + std::to_string(device) + " (" + found.name + ") has compute capability " +
         version_of(capability) + ", and the plug-in code for " + versions +
         ": CMAKE_CUDA_ARCHITECTURES=" + std::to_string(capability) +
         "-real builds it for that one";
}

}  // namespace

void check_call(int error, const char* call, Place place) {
  if (error == cudaSuccess) return;
  (void)cudaGetLastError();  // an error that was reported is not reported again
  throw Failure(std::string(call) + " at " + where(place) + " failed on device " +
                std::to_string(current_device()) + ": " + describe(error));
}

Devices find_devices() {
  int count = 0;  // the call leaves it alone where there is no driver
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return {0, describe(error)};
  for (int device = 0; device < count; ++device)
    if (std::string problem = problem_of(device); !problem.empty()) return {0, std::move(problem)};
  return {count, count > 0 ? "" : "the driver finds no device"};
}

DeviceProperties device_properties(int device) {
  cudaDeviceProp found{};
  check_call(cudaGetDeviceProperties(&found, device), "cudaGetDeviceProperties");
  char bus_id[32] = {};
  check_call(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device), "cudaDeviceGetPCIBusId");
  return {found.name,
          bus_id,
          {static_cast<Index>(found.totalGlobalMem)},
          found.multiProcessorCount,
          10 * found.major + found.minor};
}

void use_device(int device, Place place) {
  check_call(cudaSetDevice(device), "cudaSetDevice", place);
}

// --- streams and events ------------------------------------------------------------------------
Stream::Stream(StreamPriority priority, Place place) {
  int least = 0, greatest = 0;
  check_call(cudaDeviceGetStreamPriorityRange(&least, &greatest),
             "cudaDeviceGetStreamPriorityRange", place);
  check_call(cudaStreamCreateWithPriority(&handle_, cudaStreamNonBlocking,
                                          priority == StreamPriority::high ? greatest : least),
             "cudaStreamCreateWithPriority", place);
}
Stream::~Stream() {
  if (handle_ != nullptr) (void)cudaStreamDestroy(handle_);
}
Stream::Stream(Stream&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}
void Stream::synchronize(Place place) const {
  check_call(cudaStreamSynchronize(handle_), "cudaStreamSynchronize", place);
}
bool Stream::idle(Place place) const {
  const cudaError_t state = cudaStreamQuery(handle_);
  if (state == cudaErrorNotReady) return false;
  check_call(state, "cudaStreamQuery", place);
  return true;
}
void Stream::wait(const Event& event, Place place) const {
  check_call(cudaStreamWaitEvent(handle_, event.handle(), 0), "cudaStreamWaitEvent", place);
}

Event::Event(EventTime time, Place place) {
  const unsigned flags = time == EventTime::told ? cudaEventDefault : cudaEventDisableTiming;
  check_call(cudaEventCreateWithFlags(&handle_, flags), "cudaEventCreateWithFlags", place);
}
Event::~Event() {
  if (handle_ != nullptr) (void)cudaEventDestroy(handle_);
}
Event::Event(Event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
Event& Event::operator=(Event&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}
void Event::record(const Stream& stream, Place place) const {
  check_call(cudaEventRecord(handle_, stream.handle()), "cudaEventRecord", place);
}
void Event::synchronize(Place place) const {
  check_call(cudaEventSynchronize(handle_), "cudaEventSynchronize", place);
}
bool Event::passed(Place place) const {
  const cudaError_t state = cudaEventQuery(handle_);
  if (state == cudaErrorNotReady) return false;
  check_call(state, "cudaEventQuery", place);
  return true;
}
double seconds_between(const Event& begin, const Event& end, Place place) {
  float milliseconds = 0;
  check_call(cudaEventElapsedTime(&milliseconds, begin.handle(), end.handle()),
             "cudaEventElapsedTime", place);
  return milliseconds / 1000.0;
}

// --- memory ------------------------------------------------------------------------------------
DeviceMemory::DeviceMemory(Bytes bytes, Place place) : bytes_(bytes) {
  if (bytes.count == 0) return;
  void* data = nullptr;
  check_call(cudaMalloc(&data, size(bytes)), "cudaMalloc", place);
  data_ = static_cast<std::byte*>(data);
}
DeviceMemory::~DeviceMemory() {
  if (data_ != nullptr) (void)cudaFree(data_);
}
DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, {})) {}
DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

PinnedMemory::PinnedMemory(Bytes bytes, Place place) : bytes_(bytes) {
  if (bytes.count == 0) return;
  void* data = nullptr;
  check_call(cudaMallocHost(&data, size(bytes)), "cudaMallocHost", place);
  data_ = static_cast<std::byte*>(data);
}
PinnedMemory::~PinnedMemory() {
  if (data_ != nullptr) (void)cudaFreeHost(data_);
}
PinnedMemory::PinnedMemory(PinnedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, {})) {}
PinnedMemory& PinnedMemory::operator=(PinnedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void copy_to_device(void* device, const void* host, Bytes bytes, const Stream& stream,
                    Place place) {
  check_call(cudaMemcpyAsync(device, host, size(bytes), cudaMemcpyHostToDevice, stream.handle()),
             "cudaMemcpyAsync(host to device)", place);
}
void copy_to_host(void* host, const void* device, Bytes bytes, const Stream& stream, Place place) {
  check_call(cudaMemcpyAsync(host, device, size(bytes), cudaMemcpyDeviceToHost, stream.handle()),
             "cudaMemcpyAsync(device to host)", place);
}
void copy_on_device(void* to, const void* from, Bytes bytes, const Stream& stream, Place place) {
  check_call(cudaMemcpyAsync(to, from, size(bytes), cudaMemcpyDeviceToDevice, stream.handle()),
             "cudaMemcpyAsync(device to device)", place);
}
void copy_rows(void* to, const void* from, const StridedRows& rows, const Stream& stream,
               Place place) {
  const auto bytes = [](Index count) { return static_cast<std::size_t>(count); };
  if (rows.rows == 1) {  // a distance between rows has 31 bits, and one row needs none
    check_call(cudaMemcpyAsync(to, from, bytes(rows.row_bytes), cudaMemcpyDefault, stream.handle()),
               "cudaMemcpyAsync", place);
    return;
  }
  check_call(cudaMemcpy2DAsync(to, bytes(rows.to_stride), from, bytes(rows.from_stride),
                               bytes(rows.row_bytes), bytes(rows.rows), cudaMemcpyDefault,
                               stream.handle()),
             "cudaMemcpy2DAsync", place);
}
void fill_bytes(void* device, unsigned char value, Bytes bytes, const Stream& stream, Place place) {
  check_call(cudaMemsetAsync(device, value, size(bytes), stream.handle()), "cudaMemsetAsync",
             place);
}

}  // namespace cpplan::kernels::cuda
