import { isObject, parseJson } from '../base/json.ts';
import type { OperatorFiles } from '../base/operator-files.ts';
import { ConfigError, type SettingName } from './config.ts';

/** A file that a setting names. */
export interface SettingFile {
  readonly name: SettingName;
  readonly path: string;
  readonly maxBytes: number;
  /** The words before the fault; `names a file that` if absent. */
  readonly what?: string;
}

/** The bytes of the file. Throws `ConfigError` where it is missing, too large, or cannot be read. */
export function readSettingFile(file: SettingFile, files: OperatorFiles | undefined): Uint8Array {
  const { name, path, maxBytes, what = 'names a file that' } = file;
  const fault = (problem: string) => new ConfigError([{ name, problem }]);
  if (!files) throw fault('needs a host that reads files (env.operatorFiles)');
  let bytes: Uint8Array | undefined;
  try {
    bytes = files.read(path, maxBytes);
  } catch (error) {
    throw fault(`${what} cannot be read: ${error instanceof Error ? error.message : 'it failed'}`);
  }
  if (!bytes) throw fault(`${what} does not exist`);
  return bytes;
}

/** The JSON object of a file's text. Throws `fault` of what is wrong with the text, which begins with a verb. */
export function jsonObjectOf(text: string, fault: (trouble: string) => ConfigError): Readonly<Record<string, unknown>> {
  const found = parseJson(text);
  if (found === undefined) throw fault('is not JSON: look for a comma or a quotation mark');
  if (!isObject(found)) throw fault('is not a JSON object');
  return found;
}
