import * as parse from './parsers.ts';
import * as secrets from './secret-parsers.ts';
import { endpoint, secret } from './setting.ts';
import * as url from './url-parsers.ts';

/** The bucket of `vault backup --to s3://…`. */
export const BACKUP_SETTINGS = {
  BACKUP_S3_ENDPOINT: endpoint(
    "base URL of the S3-compatible service whose bucket backups go to; where it is not Amazon's, AWS_REGION may name a region",
    url.ownOrHttpsUrl,
    'https://s3.us-east-1.amazonaws.com',
    { example: 'https://s3.eu-central-1.amazonaws.com' },
  ),
  BACKUP_S3_ACCESS_KEY_ID: secret('id of the key that may read and write the bucket', parse.unsetOr(secrets.token(1))),
  BACKUP_S3_SECRET_ACCESS_KEY: secret('the key itself', parse.unsetOr(secrets.token(1))),
};
