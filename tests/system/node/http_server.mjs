// An upstream as node programs are written, on a free port, which it prints: answers of every framing, streams, early
// hints, trailers. The path says which.
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

const zipped = gzipSync('zipped '.repeat(1000));
const pages = {
  '/length': (request, response) => response.setHeader('Content-Length', 5).end('hello'),
  '/chunked': (request, response) => { response.write('hel'); response.end('lo'); },
  '/empty': (request, response) => response.writeHead(204).end(),
  '/zipped': (request, response) => response.setHeader('Content-Encoding', 'gzip').end(zipped),
  '/tagged': (request, response) => {
    response.setHeader('ETag', '"one"');
    if (request.headers['if-none-match'] === '"one"') response.writeHead(304).end();
    else response.end('tagged');
  },
  '/hints': (request, response) => response.writeEarlyHints({ link: '</style.css>; rel=preload' }, () => response.end('ok')),
  '/trailers': (request, response) => {
    response.setHeader('Trailer', 'X-Sum');
    response.write('content');
    response.addTrailers({ 'X-Sum': '7' });
    response.end();
  },
  '/echo': (request, response) => request.pipe(response),
  '/close': (request, response) => response.setHeader('Connection', 'close').end('bye'),
  '/connections': (request, response) => response.end(String(connections)),
};

let connections = 0;
const server = createServer((request, response) => (pages[request.url.replace('/pay', '')] ?? pages['/length'])(request, response));
server.on('connection', () => { connections += 1; });
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
