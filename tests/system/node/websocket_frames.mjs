// The least of RFC 6455 that an echo needs: whole frames in and out, no fragments, no extensions.
import { createHash, randomBytes } from 'node:crypto';

export const acceptOf = (key) =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');

export const TEXT = 1;
export const BINARY = 2;
export const CLOSE = 8;

export function frame(opcode, payload, { masked = false } = {}) {
  const bit = masked ? 0x80 : 0;
  let head;
  if (payload.length < 126) {
    head = Buffer.from([0x80 | opcode, bit | payload.length]);
  } else if (payload.length < 65536) {
    head = Buffer.from([0x80 | opcode, bit | 126, 0, 0]);
    head.writeUInt16BE(payload.length, 2);
  } else {
    head = Buffer.alloc(10);
    head[0] = 0x80 | opcode;
    head[1] = bit | 127;
    head.writeBigUInt64BE(BigInt(payload.length), 2);
  }
  if (!masked) return Buffer.concat([head, payload]);
  const mask = randomBytes(4);
  return Buffer.concat([head, mask, payload.map((byte, index) => byte ^ mask[index % 4])]);
}

/** Calls `visit(opcode, payload)` with each whole frame that comes on `socket`; `early` came before. */
export function onFrames(socket, early, visit) {
  let held = Buffer.alloc(0);
  const take = (piece) => {
    held = Buffer.concat([held, piece]);
    for (;;) {
      if (held.length < 2) return;
      let length = held[1] & 0x7f;
      let at = 2;
      if (length === 126) {
        if (held.length < 4) return;
        length = held.readUInt16BE(2);
        at = 4;
      } else if (length === 127) {
        if (held.length < 10) return;
        length = Number(held.readBigUInt64BE(2));
        at = 10;
      }
      const masked = (held[1] & 0x80) !== 0;
      const start = at + (masked ? 4 : 0);
      if (held.length < start + length) return;
      let payload = held.subarray(start, start + length);
      if (masked) {
        const mask = held.subarray(at, start);
        payload = payload.map((byte, index) => byte ^ mask[index % 4]);
      }
      visit(held[0] & 0x0f, Buffer.from(payload));
      held = held.subarray(start + length);
    }
  };
  socket.on('data', take);
  if (early.length > 0) take(early);
}
