// Talks to a WebSocket echo server: arguments URL and bytes of the large message; NODE_EXTRA_CA_CERTS for https. Prints
// what came back as JSON.
import { createHash, randomBytes } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { BINARY, CLOSE, TEXT, acceptOf, frame, onFrames } from './websocket_frames.mjs';

const [url, bytes] = process.argv.slice(2);
const key = randomBytes(16).toString('base64');
const large = randomBytes(Number(bytes));
const digest = (data) => createHash('sha256').update(data).digest('hex');

const request = (url.startsWith('https:') ? https : http).get(url, {
  headers: { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Key': key, 'Sec-WebSocket-Version': '13' },
});
request.on('response', (response) => {
  response.resume();
  console.log(JSON.stringify({ status: response.statusCode, upgrade: response.headers.upgrade ?? null }));
});
request.on('upgrade', (response, socket, early) => {
  const echoes = [];
  const send = (opcode, payload) => socket.write(frame(opcode, payload, { masked: true }));
  onFrames(socket, early, (opcode, payload) => {
    echoes.push([opcode, payload.length, digest(payload)]);
    if (echoes.length === 2) send(CLOSE, Buffer.from([3, 232]));
  });
  socket.on('end', () => {
    console.log(JSON.stringify({
      status: response.statusCode,
      accepted: response.headers['sec-websocket-accept'] === acceptOf(key),
      echoes,
      sent: [[TEXT, 6, digest('hällo')], [BINARY, large.length, digest(large)]],
    }));
    socket.end();
  });
  send(TEXT, Buffer.from('hällo'));
  send(BINARY, large);
});
