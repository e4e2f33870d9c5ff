-- One body, and another key with each request: number 1 to BENCH_KEYS in turn, or with BENCH_KEYS=0 ones that do not exist.
local file = assert(io.open(os.getenv("BENCH_BODY"), "rb"))
local body = file:read("*a")
file:close()
local keys = tonumber(os.getenv("BENCH_KEYS"))
local sent = 0
request = function()
  sent = sent + 1
  local number = keys > 0 and (sent % keys) + 1 or 1e9 + sent
  local headers = {
    ["Content-Type"] = "application/json",
    ["Authorization"] = "Bearer sk-svc-" .. string.rep("0", 52) .. string.format("%012x", number),
  }
  return wrk.format("POST", nil, headers, body)
end
