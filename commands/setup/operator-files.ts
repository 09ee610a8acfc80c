import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { OperatorFiles } from '../../lib/base/operator-files.ts';

/** The operator's files on disk, by paths from the directory that the vault was started in. */
export const operatorFiles: OperatorFiles = {
  read(path, maxBytes) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    if (!stat.isFile()) throw new Error('it is not a file');
    if (stat.size > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
    return readFileSync(path);
  },
  list(path) {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(path).sort() : [];
  },
};
