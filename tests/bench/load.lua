-- Load for wrk: argument "get PATH", "first PREFIX" or "replay PREFIX KEYS"; prints one line of JSON at the end.
local counter = 0

function setup(thread)
  thread:set("id", counter)
  counter = counter + 1
end

function init(args)
  mode, name, count = args[1], args[2], tonumber(args[3] or "0")
  sent = 0
  local body = '{"amount":100,"currency":"eur"}'
  before_key = "POST /pay HTTP/1.1\r\nHost: bench.example\r\nContent-Type: application/json\r\nContent-Length: " ..
      #body .. '\r\nIdempotency-Key: "' .. name .. "-"
  after_key = '"\r\n\r\n' .. body
  plain = "GET " .. name .. " HTTP/1.1\r\nHost: bench.example\r\n\r\n"
end

function request()
  if mode == "get" then return plain end
  sent = sent + 1
  local key = mode == "first" and (id .. "-" .. sent) or tostring(sent % count)
  return before_key .. key .. after_key
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('JSON {"requests":%d,"seconds":%f,"p50_us":%d,"p99_us":%d,"failed":%d}\n',
      summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
      errors.connect + errors.read + errors.write + errors.timeout + errors.status))
end
