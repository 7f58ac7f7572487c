import { readFile } from "node:fs/promises";

type Upload = { url: string; width?: number; height?: number };

const url = "https://launchboard.example/api/uploads";

async function upload(path: string, type: string, body: Blob | string): Promise<Upload> {
  const headers = { "x-api-key": process.env.LAUNCHBOARD_KEY ?? "", "content-type": type };
  const response = await fetch(`${url}/${path}`, { method: "POST", headers, body });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Upload;
}

const picture = await upload("pictures", "image/png", new Blob([await readFile("token.png")]));
console.log(picture.url, picture.width, picture.height);

const texts = { name: "Doge of uploads", symbol: "DOGE", image: picture.url };
const document = await upload("metadata", "application/json", JSON.stringify(texts));
console.log(document.url);
