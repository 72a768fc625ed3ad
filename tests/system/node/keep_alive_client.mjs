// Many requests over kept connections: arguments URL and count. Once with an http agent that keeps its connections, once
// with fetch. Prints statuses, how many sockets the agent opened, and what came back.
import http from 'node:http';

const [url, count] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true, maxSockets: 2 });
const sockets = new Set();

const ask = (number) => new Promise((resolve, reject) => {
  const request = http.request(url, { agent, method: 'POST', headers: { 'Content-Type': 'text/plain' } }, (response) => {
    sockets.add(response.socket.localPort);
    let body = '';
    response.setEncoding('utf8');
    response.on('data', (piece) => { body += piece; });
    response.on('end', () => resolve([response.statusCode, body]));
    response.on('error', reject);
  });
  request.on('error', reject);
  // Without a length node sends it chunked.
  request.write(`number `);
  request.end(String(number));
});

const numbers = Array.from({ length: Number(count) }, (_, index) => index);
const byAgent = await Promise.all(numbers.map(ask));
agent.destroy();
const byFetch = await Promise.all(numbers.map(async (number) => {
  const response = await fetch(url, { method: 'POST', body: `number ${number}` });
  return [response.status, await response.text()];
}));
console.log(JSON.stringify({ sockets: sockets.size, byAgent, byFetch }));
