// A WebSocket echo server on a free port, which it prints. Plain requests get 426.
import { createServer } from 'node:http';
import { CLOSE, acceptOf, frame, onFrames } from './websocket_frames.mjs';

const server = createServer((request, response) => {
  response.writeHead(426, { Upgrade: 'websocket', Connection: 'Upgrade' });
  response.end('speak websocket');
});
server.on('upgrade', (request, socket, early) => {
  socket.write(['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${acceptOf(request.headers['sec-websocket-key'])}`, '', ''].join('\r\n'));
  onFrames(socket, early, (opcode, payload) => {
    socket.write(frame(opcode, payload));
    if (opcode === CLOSE) socket.end();
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
