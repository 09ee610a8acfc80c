// Preloaded into a program that would listen on every network: keeps it on this machine, and ends it with the process
// that started it.
import { Server } from 'node:http';

const { listen } = Server.prototype;
Server.prototype.listen = function (this: Server, options: object, ...rest: unknown[]) {
  return Reflect.apply(listen, this, [{ ...options, host: '127.0.0.1' }, ...rest]);
} as typeof listen;

// When the starter ends, also by kill -9, its end of this pipe closes.
process.stdin.on('end', () => process.exit()).resume();
