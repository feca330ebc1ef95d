"""scripts/gpu-check ends at once, with one clear line and exit code 3, where there is no GPU."""
import subprocess
import unittest

from house import ROOT


class GpuCheck(unittest.TestCase):
    def test_without_a_gpu(self):
        done = subprocess.run(["/bin/bash", ROOT / "scripts" / "gpu-check"], capture_output=True,
                              env={"PATH": "/nowhere"}, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("there is no GPU here", done.stderr)


if __name__ == "__main__":
    unittest.main()
