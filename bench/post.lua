-- What wrk sends: one body, with the headers that the contender wants ("name: value" a line).
local file = assert(io.open(os.getenv("BENCH_BODY"), "rb"))
wrk.body = file:read("*a")
file:close()
wrk.method = "POST"
for line in (os.getenv("BENCH_HEADERS") or ""):gmatch("[^\n]+") do
  local name, value = line:match("^([^:]+): (.*)$")
  wrk.headers[name] = value
end
